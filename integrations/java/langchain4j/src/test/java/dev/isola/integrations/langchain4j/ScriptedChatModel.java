package dev.isola.integrations.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;

/**
 * A model that calls the tools of a script, one after the other, and answers with the last result.
 */
final class ScriptedChatModel implements ChatModel {
  private record Call(String tool, String arguments) {}

  private final Deque<Call> script = new ArrayDeque<>();

  /** The results of the tools, as the model has read them. */
  final List<ToolExecutionResultMessage> results = new ArrayList<>();

  /** The tools that were offered. */
  List<ToolSpecification> tools = List.of();

  ScriptedChatModel calls(String tool, String arguments) {
    script.add(new Call(tool, arguments));
    return this;
  }

  @Override
  public ChatResponse doChat(ChatRequest request) {
    tools = request.toolSpecifications();
    if (request.messages().getLast() instanceof ToolExecutionResultMessage result) {
      results.add(result);
    }
    Call call = script.poll();
    return ChatResponse.builder()
        .aiMessage(
            call == null
                ? AiMessage.from("It printed: " + results.getLast().text())
                : AiMessage.from(
                    ToolExecutionRequest.builder()
                        .id(UUID.randomUUID().toString())
                        .name(call.tool())
                        .arguments(call.arguments())
                        .build()))
        .build();
  }
}
