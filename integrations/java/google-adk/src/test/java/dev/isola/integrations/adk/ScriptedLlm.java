package dev.isola.integrations.adk;

import com.google.adk.models.BaseLlm;
import com.google.adk.models.BaseLlmConnection;
import com.google.adk.models.LlmRequest;
import com.google.adk.models.LlmResponse;
import com.google.genai.types.Content;
import com.google.genai.types.Part;
import io.reactivex.rxjava3.core.Flowable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** A model that writes the programs of a script, and answers with the last result. */
final class ScriptedLlm extends BaseLlm {
  private final Deque<String> programs = new ArrayDeque<>();

  /** The results of the programs, as the model has read them. */
  final List<String> results = new ArrayList<>();

  ScriptedLlm(String... programs) {
    super("scripted");
    this.programs.addAll(Arrays.asList(programs));
  }

  @Override
  public Flowable<LlmResponse> generateContent(LlmRequest request, boolean stream) {
    String last =
        request.contents().getLast().parts().orElseThrow().stream()
            .flatMap(part -> part.text().stream())
            .reduce("", String::concat);
    if (last.contains("```tool_output")) {
      results.add(last);
    }
    String program = programs.poll();
    // The kit looks for code in the answer, in time that grows with the square of its length.
    String end = last.substring(Math.max(0, last.length() - 1000));
    String answer =
        program == null ? "The result: " + end : "I run this:\n```python\n" + program + "\n```";
    return Flowable.just(
        LlmResponse.builder()
            .content(Content.builder().role("model").parts(Part.fromText(answer)).build())
            .build());
  }

  @Override
  public BaseLlmConnection connect(LlmRequest request) {
    throw new UnsupportedOperationException(Optional.of(request).toString());
  }
}
