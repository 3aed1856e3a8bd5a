"""What the program is made of that others have made: packages, and files of packages."""
