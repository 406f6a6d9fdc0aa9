"""What the scripts about questionnaires share."""
