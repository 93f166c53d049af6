# tools: page
pairs = sorted((page(name=name)["words"], name) for name in ["tower", "inn", "mill"])
print([name for _, name in pairs])
