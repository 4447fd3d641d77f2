//! Which groups, versions and kinds there are, as clients ask for it.
