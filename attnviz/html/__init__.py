"""Pictures as HTML files of their own: offline, exact, with their captions. What a browser does there is in
attnviz/widgets/shared/js/hosts/file.js, and the same file made in a browser in shared/js/files/html_file.js.
"""
