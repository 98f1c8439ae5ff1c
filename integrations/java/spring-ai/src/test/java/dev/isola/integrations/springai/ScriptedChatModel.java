package dev.isola.integrations.springai;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;

/**
 * A model that calls the tools of a script, one after the other, and answers with the last result.
 */
final class ScriptedChatModel implements ChatModel {
  private record Call(String tool, String arguments) {}

  private final Deque<Call> script = new ArrayDeque<>();

  /** The results of the tools, as the model has read them. */
  final List<String> results = new ArrayList<>();

  ScriptedChatModel calls(String tool, String arguments) {
    script.add(new Call(tool, arguments));
    return this;
  }

  @Override
  public ChatOptions getOptions() {
    return ToolCallingChatOptions.builder().build();
  }

  @Override
  public ChatResponse call(Prompt prompt) {
    if (prompt.getInstructions().getLast() instanceof ToolResponseMessage message) {
      message.getResponses().forEach(response -> results.add(response.responseData()));
    }
    Call call = script.poll();
    AssistantMessage answer =
        call == null
            ? new AssistantMessage("It printed: " + results.getLast())
            : AssistantMessage.builder()
                .content("")
                .toolCalls(
                    List.of(
                        new AssistantMessage.ToolCall(
                            UUID.randomUUID().toString(),
                            "function",
                            call.tool(),
                            call.arguments())))
                .build();
    return new ChatResponse(List.of(new Generation(answer)));
  }
}
