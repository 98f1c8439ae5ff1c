package dev.isola.integrations.springai;

import dev.isola.client.Isola;
import dev.isola.client.SandboxSpec;
import dev.isola.integrations.springai.sandbox.IsolaSandbox;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springaicommunity.sandbox.ExecSpec;
import org.springaicommunity.sandbox.Sandbox;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.model.ChatModel;

/** The examples of docs/integrations-java.md. */
final class SpringAiExample {
  private SpringAiExample() {}

  static @Nullable String chat(Isola isola, ChatModel model) {
    try (IsolaToolCallbacks tools = IsolaToolCallbacks.creating(isola)) {
      return ChatClient.create(model)
          .prompt("Multiply the numbers in n.txt.")
          .tools(tools)
          .toolContext(Map.of(ChatMemory.CONVERSATION_ID, "anna"))
          .call()
          .content();
    }
  }

  static String run(Isola isola) {
    try (Sandbox sandbox = IsolaSandbox.create(isola, SandboxSpec.DEFAULT)) {
      sandbox.files().create("main.py", "print(6 * 7)");
      return sandbox.exec(ExecSpec.of("python3", "main.py")).stdout();
    }
  }
}
