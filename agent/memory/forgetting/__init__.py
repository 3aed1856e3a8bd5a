"""Takes memories out of the notes and of the history, and keeps them from coming back."""
