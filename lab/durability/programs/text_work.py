# tools: page, put
lines = page(name="mill")["text"].lower().split()
longest = sorted(set(lines), key=lambda word: (-len(word), word))[:3]
put(name="longest", value=", ".join(longest).title())
print(longest)
