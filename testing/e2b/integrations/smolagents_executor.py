"""The E2B executor of smolagents, and an agent that uses it. A scripted model replaces the language model."""

from smolagents import CodeAgent, tool
from smolagents.models import ChatMessage, MessageRole, Model
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.remote_executors import E2BExecutor


class ScriptedModel(Model):
    """Answers with one piece of code after the other."""

    def __init__(self, *answers):
        super().__init__(model_id="scripted")
        self.answers = list(answers)

    def generate(self, messages, **options):
        code = self.answers.pop(0)
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: next.\n<code>\n{code}\n</code>")


executor = E2BExecutor(additional_imports=[], logger=AgentLogger(level=LogLevel.ERROR))
try:
    executor.send_variables({"limit": 100})
    output = executor("total = sum(range(limit + 1))\nprint('counted')\ntotal")
    assert (str(output.output), output.logs) == ("5050", "counted\n"), output
    try:
        executor("1 / 0")
        raise AssertionError("an error of the code is not reported")
    except Exception as error:
        assert "ZeroDivisionError" in str(error), error
finally:
    executor.cleanup()


@tool
def double(number: int) -> int:
    """Doubles a number.

    Args:
        number: the number
    """
    return 2 * number


fibonacci = """
a, b = 0, 1
for _ in range(100):
    a, b = b, a + b
print(double(21))
"""
model = ScriptedModel(fibonacci, "final_answer(a)")
with CodeAgent(model=model, tools=[double], executor_type="e2b", verbosity_level=LogLevel.ERROR) as agent:
    answer = agent.run("Can you give me the 100th Fibonacci number?")
    print(answer)
    assert answer == 354224848179261915075, answer
    logs = [step.observations for step in agent.memory.steps if getattr(step, "observations", None)]
    assert any("42" in text for text in logs), logs
