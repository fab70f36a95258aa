"""The checks of tools/check_tree.py, one module a subject. Each check takes a Tree, yields Findings."""
