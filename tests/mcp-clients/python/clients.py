"""Calls the fixture with the Python SDK, in each of its modes."""

import asyncio
import os

from mcp import Client, MCPError

URL = os.environ["URL"]


def text_of(result):
    return "".join(part.text for part in result.content)


async def check(client):
    names = [tool.name for tool in (await client.list_tools()).tools]
    assert "test_with_arguments" in names and names == sorted(names), names
    known = await client.call_tool("test_with_arguments", {"name": "Ada", "count": 2})
    assert not known.is_error and text_of(known) == "Hello Ada, 2 times", known
    image = await client.call_tool("test_image_content", {})
    assert image.content[0].mime_type == "image/png", image
    invalid = await client.call_tool("test_with_arguments", {"name": "Ada", "count": 10})
    assert invalid.is_error and text_of(invalid).startswith("HTTP 400: "), invalid
    failing = await client.call_tool("test_error_handling", {})
    assert failing.is_error, failing
    try:
        await client.call_tool("unknown", {})
    except MCPError as error:
        assert "Unknown tool: unknown" in str(error), error
    else:
        raise AssertionError("the unknown tool did not fail")
    seen = []

    async def progress(done, total, message):
        seen.append((done, total))

    slow = await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
    assert not slow.is_error, slow
    assert seen == [(0, 100), (50, 100), (100, 100)], seen


async def main():
    for mode in ("auto", "legacy", "2026-07-28"):
        async with Client(URL, mode=mode) as client:
            await check(client)
            print(f"ok  mcp of Python, {mode}", flush=True)


asyncio.run(main())
