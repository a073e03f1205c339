"""Prints what a page, a terminal or a workflow might take for its own. Status: error

Held by: values
"""

print("</pre><script>alert(1)</script><img src=x onerror=alert(1)>")
print("::error file=x::owned\n::set-output name=points::10\n```\n# Full marks\n")
print("\x1b]0;owned\x07\x1b[2J\x1b[31mred \u202egnirts\u202c \x00 \x9b31m")
raise ValueError("<b>::warning::</b> \x1b[31m\u202e")
