"""Pictures as HTML files that work offline, with exact values and captions.

The browser's side is attnviz/kit/js/hosts/file.js; kit/js/files/html_file.js makes the same file in the browser.
"""
