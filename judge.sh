#!/bin/sh
read -r left; read -r right; printf '%s\n%s\n' "$left" "$right" | sort | head -1
