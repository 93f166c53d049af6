# tools: send
letters = [{"to": "ada", "text": "x"}, {"to": "bob", "text": "y"}]
print([send(**letter) for letter in letters])
