package dev.isola.integrations.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.integrations.langchain4j.LangChain4jExample.Assistant;
import dev.isola.integrations.tools.CodeLanguage;
import dev.isola.integrations.tools.ToolOptions;
import dev.isola.testing.server.TestServer;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.service.AiServices;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** AI services of LangChain4j with a scripted model and a server process. */
@Timeout(60)
class LangChain4jExampleTest {
  private static Isola isola;

  @BeforeAll
  static void connect() {
    TestServer server = TestServer.shared();
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void disconnect() {
    isola.close();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
  }

  private static Assistant assistant(ScriptedChatModel model, IsolaToolProvider tools) {
    return AiServices.builder(Assistant.class)
        .chatModel(model)
        .chatMemoryProvider(id -> MessageWindowChatMemory.withMaxMessages(20))
        .toolProvider(tools)
        .build();
  }

  @Test
  void modelRunsCodeAndReadsTheOutput() {
    ScriptedChatModel model =
        new ScriptedChatModel()
            .calls("write_file", "{\"path\": \"n.txt\", \"content\": \"6 7\"}")
            .calls(
                "run_code",
                "{\"code\": \"a, b = map(int, open('n.txt').read().split())\\nprint(a * b)\"}");
    assertThat(LangChain4jExample.chat(isola, model)).isEqualTo("It printed: 42\n[exit code 0]");
    assertThat(model.tools)
        .extracting(ToolSpecification::name)
        .contains("exec", "run_code", "write_file", "read_file", "list_files", "preview_url");
    assertThat(model.results).noneMatch(ToolExecutionResultMessage::isError);
  }

  @Test
  void eachMemoryIdHasItsOwnSandbox() {
    ScriptedChatModel model = new ScriptedChatModel();
    try (IsolaToolProvider tools = IsolaToolProvider.creating(isola)) {
      Assistant assistant = assistant(model, tools);
      model.calls("exec", "{\"command\": \"touch anna; ls\"}");
      assertThat(assistant.chat("anna", "Go.")).contains("anna\n[exit code 0]");
      model.calls("exec", "{\"command\": \"ls\"}");
      assertThat(assistant.chat("bert", "Go.")).isEqualTo("It printed: [exit code 0]");
      model.calls("exec", "{\"command\": \"ls\"}");
      assertThat(assistant.chat("anna", "Again.")).contains("anna\n");
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(2);
      tools.endSession("anna");
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
    }
  }

  @Test
  void failedCallIsAnErrorThatTheModelReads() {
    ScriptedChatModel model =
        new ScriptedChatModel()
            .calls("read_file", "{\"path\": \"missing\"}")
            .calls("exec", "{\"command\": ")
            .calls("exec", "{\"command\": \"echo recovered\"}");
    try (IsolaToolProvider tools = IsolaToolProvider.creating(isola)) {
      assertThat(assistant(model, tools).chat("anna", "Go.")).contains("recovered\n[exit code 0]");
    }
    assertThat(model.results)
        .extracting(ToolExecutionResultMessage::isError)
        .containsExactly(true, true, false);
    assertThat(model.results.getFirst().text()).startsWith("FILE_NOT_FOUND: ");
  }

  @Test
  void sandboxOfTheApplicationStays() {
    ScriptedChatModel model =
        new ScriptedChatModel().calls("exec", "{\"command\": \"touch made\"}");
    try (Sandbox sandbox = isola.create()) {
      try (IsolaToolProvider tools = IsolaToolProvider.in(sandbox, ToolOptions.DEFAULT)) {
        assistant(model, tools).chat("anna", "Go.");
      }
      assertThat(sandbox.exec("ls").stdout()).isEqualTo("made\n");
    }
  }

  /** An application's own tool around the engine. */
  static final class Calculator {
    private final IsolaCodeExecutionEngine engine;

    Calculator(IsolaCodeExecutionEngine engine) {
      this.engine = engine;
    }

    @Tool("Runs Python code and returns what it prints")
    String python(String code) {
      return engine.execute(code);
    }
  }

  @Test
  void exampleOfTheEnginePrints() {
    assertThat(LangChain4jExample.code(isola))
        .isEqualTo("1267650600228229401496703205376\n[exit code 0]");
    assertThat(LangChain4jExample.options().toolNames()).hasSize(3);
  }

  @Test
  void codeExecutionEngineRunsInAToolOfTheApplication() {
    ScriptedChatModel model =
        new ScriptedChatModel().calls("python", "{\"code\": \"print(2 ** 100)\"}");
    try (IsolaCodeExecutionEngine engine = IsolaCodeExecutionEngine.builder(isola).build()) {
      Assistant assistant =
          AiServices.builder(Assistant.class)
              .chatModel(model)
              .chatMemoryProvider(id -> MessageWindowChatMemory.withMaxMessages(20))
              .tools(new Calculator(engine))
              .build();
      assertThat(assistant.chat("anna", "What is two to the 100?"))
          .contains("1267650600228229401496703205376");
      assertThat(engine.execute("raise SystemExit(3)")).isEqualTo("[exit code 3]");
    }
  }

  @Test
  void codeExecutionEngineRunsOtherLanguagesWithATimeout() {
    ToolOptions options =
        ToolOptions.DEFAULT.withTimeout(Duration.ofSeconds(2), Duration.ofSeconds(2));
    try (IsolaCodeExecutionEngine engine =
        IsolaCodeExecutionEngine.builder(isola)
            .language(CodeLanguage.SHELL)
            .options(options)
            .build()) {
      assertThat(engine.execute("echo $((6 * 7)); sleep 50"))
          .isEqualTo("42\n[killed: timeout of 2 s]");
      isola.sandbox(isola.list(SandboxFilter.ALL).getFirst().id()).destroy();
      assertThat(engine.execute("true")).contains("the sandbox no longer exists");
      assertThat(engine.execute("true")).isEqualTo("[exit code 0]");
    }
  }
}
