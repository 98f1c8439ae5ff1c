package dev.isola.integrations.langchain4j;

import dev.isola.client.Isola;
import dev.isola.client.SandboxSpec;
import dev.isola.integrations.tools.CodeLanguage;
import dev.isola.integrations.tools.ToolOptions;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import java.time.Duration;

/** The examples of docs/integrations-java.md. */
final class LangChain4jExample {
  private LangChain4jExample() {}

  interface Assistant {
    String chat(@MemoryId String user, @UserMessage String message);
  }

  static String chat(Isola isola, ChatModel model) {
    try (IsolaToolProvider tools = IsolaToolProvider.creating(isola)) {
      Assistant assistant =
          AiServices.builder(Assistant.class)
              .chatModel(model)
              .chatMemoryProvider(user -> MessageWindowChatMemory.withMaxMessages(20))
              .toolProvider(tools)
              .build();
      return assistant.chat("anna", "Multiply the numbers in n.txt.");
    }
  }

  static String code(Isola isola) {
    try (IsolaCodeExecutionEngine engine =
        IsolaCodeExecutionEngine.builder(isola).language(CodeLanguage.PYTHON).build()) {
      return engine.execute("print(2 ** 100)");
    }
  }

  static ToolOptions options() {
    return ToolOptions.DEFAULT
        .withSpec(SandboxSpec.builder().image("python:3.14").memoryMb(512).network("none").build())
        .withTimeout(Duration.ofSeconds(30), Duration.ofMinutes(5))
        .withTools("run_code", "write_file", "read_file");
  }
}
