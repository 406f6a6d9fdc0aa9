"""What the scripts of this folder share; nothing here is run by itself."""
