"""Pictures as HTML files of their own: offline, exact, with their captions. What a browser does there is in
attnviz/kit/js/hosts/file.js, and the same file made in a browser in kit/js/files/html_file.js.
"""
