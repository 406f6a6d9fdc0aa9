"""What the scripts on topics share."""
