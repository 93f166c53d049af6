# tools: page, put, send
import json

text = json.dumps({name: page(name=name)["links"] for name in ["mill", "inn"]}, sort_keys=True)
put(name="links", value=text)
back = json.loads(text)
send(to="archive", text=text)
print(sorted(back))
