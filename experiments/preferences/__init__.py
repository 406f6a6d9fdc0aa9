"""What many people like: tables and figures of Ko (2017), section 3.2, and what to compare."""
