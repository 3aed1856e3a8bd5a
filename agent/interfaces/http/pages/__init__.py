"""The dashboard: pages made on the server over the same functions as the API. No build, nothing from elsewhere.

A new page is a module with a `Page` (and a `Deed` for each of its buttons), a template of the page's name, a row in
`routes`, and its texts in `agent/texts`, section `pages`: the title under the page's name. Templates find what they
share in `macros.html`; elements that htmx shall obey carry `hx-nonce`.
"""
