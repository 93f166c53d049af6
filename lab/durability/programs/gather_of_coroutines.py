# tools: page, send
import asyncio

async def look(name):
    found = page(name=name)["words"]
    send(to=name, text=str(found))
    return found

async def main():
    return await asyncio.gather(look("mill"), look("inn"))

print(asyncio.run(main()))
