package dev.isola.integrations.adk;

import com.google.adk.agents.LlmAgent;
import com.google.adk.models.BaseLlm;
import com.google.adk.runner.InMemoryRunner;
import com.google.adk.sessions.Session;
import com.google.genai.types.Content;
import com.google.genai.types.Part;
import dev.isola.client.Isola;
import dev.isola.integrations.tools.ToolOptions;

/** The example of docs/integrations-java.md. */
final class AdkExample {
  private AdkExample() {}

  static String chat(Isola isola, BaseLlm model) {
    try (IsolaCodeExecutor executor = IsolaCodeExecutor.creating(isola, ToolOptions.DEFAULT)) {
      LlmAgent agent =
          LlmAgent.builder().name("analyst").model(model).codeExecutor(executor).build();
      InMemoryRunner runner = new InMemoryRunner(agent);
      Session session =
          runner.sessionService().createSession(runner.appName(), "anna").blockingGet();
      Content question = Content.fromParts(Part.fromText("Multiply 6 and 7."));
      return runner.runAsync("anna", session.id(), question).blockingLast().stringifyContent();
    }
  }
}
