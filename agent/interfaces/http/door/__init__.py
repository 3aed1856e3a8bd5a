"""Who may enter: the token, the sign-in of a browser, and the guard before every route. Knows no route."""
