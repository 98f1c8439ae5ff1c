package dev.isola.integrations.springai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.integrations.tools.ToolOptions;
import dev.isola.testing.server.TestServer;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.memory.ChatMemory;

/** Chat clients of Spring AI with a scripted model and a server process. */
@Timeout(60)
class SpringAiExampleTest {
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

  private static String ask(ScriptedChatModel model, IsolaToolCallbacks tools, String user) {
    return String.valueOf(
        ChatClient.create(model)
            .prompt("Go.")
            .tools(tools)
            .toolContext(Map.of(ChatMemory.CONVERSATION_ID, user))
            .call()
            .content());
  }

  @Test
  void modelRunsCodeAndReadsTheOutput() {
    ScriptedChatModel model =
        new ScriptedChatModel()
            .calls("write_file", "{\"path\": \"n.txt\", \"content\": \"6 7\"}")
            .calls(
                "run_code",
                "{\"code\": \"a, b = map(int, open('n.txt').read().split())\\nprint(a * b)\"}");
    assertThat(SpringAiExample.chat(isola, model)).isEqualTo("It printed: 42\n[exit code 0]");
  }

  @Test
  void exampleOfTheCommunitySandboxPrints() {
    assertThat(SpringAiExample.run(isola)).isEqualTo("42\n");
  }

  @Test
  void eachConversationHasItsOwnSandbox() {
    ScriptedChatModel model = new ScriptedChatModel();
    try (IsolaToolCallbacks tools = IsolaToolCallbacks.creating(isola)) {
      ask(model.calls("exec", "{\"command\": \"touch anna\"}"), tools, "anna");
      assertThat(ask(model.calls("exec", "{\"command\": \"ls\"}"), tools, "bert"))
          .isEqualTo("It printed: [exit code 0]");
      assertThat(ask(model.calls("exec", "{\"command\": \"ls\"}"), tools, "anna"))
          .contains("anna\n");
      tools.endSession("anna");
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
    }
  }

  @Test
  void requestWithoutConversationIsRefused() {
    ScriptedChatModel model = new ScriptedChatModel().calls("exec", "{\"command\": \"true\"}");
    try (IsolaToolCallbacks tools = IsolaToolCallbacks.creating(isola)) {
      assertThatThrownBy(() -> ChatClient.create(model).prompt("Go.").tools(tools).call().content())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ChatMemory.CONVERSATION_ID");
    }
  }

  @Test
  void failedCallIsAnErrorThatTheModelReads() {
    ScriptedChatModel model =
        new ScriptedChatModel()
            .calls("read_file", "{\"path\": \"missing\"}")
            .calls("exec", "{\"command\": 1}")
            .calls("exec", "{\"command\": \"echo recovered\"}");
    try (IsolaToolCallbacks tools = IsolaToolCallbacks.creating(isola)) {
      assertThat(ask(model, tools, "anna")).contains("recovered\n[exit code 0]");
    }
    assertThat(model.results.getFirst()).startsWith("FILE_NOT_FOUND: ");
    assertThat(model.results.get(1)).startsWith("INVALID_ARGUMENTS: ");
  }

  @Test
  void sandboxOfTheApplicationStays() {
    ScriptedChatModel model =
        new ScriptedChatModel().calls("exec", "{\"command\": \"touch made\"}");
    try (Sandbox sandbox = isola.create()) {
      try (IsolaToolCallbacks tools = IsolaToolCallbacks.in(sandbox, ToolOptions.DEFAULT)) {
        ChatClient.create(model).prompt("Go.").tools(tools).call().content();
      }
      assertThat(sandbox.exec("ls").stdout()).isEqualTo("made\n");
    }
  }
}
