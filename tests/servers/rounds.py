"""A server on PyPI's `mcp` SDK that asks for input: in the modern era by input rounds."""

from typing import Annotated

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("rounds")


class Name(BaseModel):
    name: str


def ask() -> Elicit[Name]:
    return Elicit("Who are you?", Name)


@server.tool()
def greet(answer: Annotated[ElicitationResult[Name], Resolve(ask)]) -> str:
    """Greets somebody whose name it asks for."""
    if isinstance(answer, AcceptedElicitation):
        return f"Hello {answer.data.name}"
    return f"Nobody: {answer.action}"


server.run()
