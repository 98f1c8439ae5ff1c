package dev.isola.integrations.tools;

import dev.isola.client.SandboxSpec;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Options of tools.
 *
 * @param spec of the sandboxes that the tools create. A spec with neither a TTL nor an idle timeout
 *     gets an idle timeout of 30 minutes, so that the server destroys what an application that
 *     ended early left behind
 * @param timeout of a command for which the model sets none
 * @param maxTimeout the longest timeout that a model may set
 * @param maxOutput bytes of output or of a file in one result, at most 32 KiB: about 10,000 tokens
 * @param maxSandboxes the most sandboxes that exist at the same time. For another session, the one
 *     that was not used for the longest time is destroyed
 * @param languages of the tool {@code run_code}; the first is its default
 * @param toolNames the tools that a model may use
 */
public record ToolOptions(
    SandboxSpec spec,
    Duration timeout,
    Duration maxTimeout,
    int maxOutput,
    int maxSandboxes,
    List<CodeLanguage> languages,
    Set<String> toolNames) {
  /** More would be cut by the server, which may store no more than 64 KiB of each channel. */
  private static final int LARGEST_OUTPUT = 32 * 1024;

  private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(30);

  /** Commands run up to one minute, ten if the model asks for it; all tools are available. */
  public static final ToolOptions DEFAULT =
      new ToolOptions(
          SandboxSpec.DEFAULT,
          Duration.ofMinutes(1),
          Duration.ofMinutes(10),
          32 * 1024,
          100,
          List.of(CodeLanguage.PYTHON, CodeLanguage.JAVASCRIPT, CodeLanguage.SHELL),
          SandboxTools.NAMES);

  public ToolOptions {
    languages = List.copyOf(languages);
    toolNames = Set.copyOf(toolNames);
    if (timeout.toSeconds() < 1 || maxTimeout.compareTo(timeout) < 0) {
      throw new IllegalArgumentException(
          "timeout is "
              + timeout
              + " and maxTimeout "
              + maxTimeout
              + "; use 1 s or more, in order");
    }
    if (maxOutput < 256 || maxOutput > LARGEST_OUTPUT) {
      throw new IllegalArgumentException("maxOutput is " + maxOutput + "; use 256 to 32768");
    }
    if (maxSandboxes < 1) {
      throw new IllegalArgumentException("maxSandboxes is " + maxSandboxes);
    }
    if (languages.isEmpty()) {
      throw new IllegalArgumentException("there is no language");
    }
    for (String name : toolNames) {
      if (!SandboxTools.NAMES.contains(name)) {
        throw new IllegalArgumentException(
            "there is no tool '" + name + "'; the tools are " + SandboxTools.NAMES);
      }
    }
    if (!spec.document().containsKey("ttlSeconds")
        && !spec.document().containsKey("idleTimeoutSeconds")) {
      spec = spec.toBuilder().idleTimeout(IDLE_TIMEOUT).build();
    }
  }

  public ToolOptions withSpec(SandboxSpec of) {
    return new ToolOptions(of, timeout, maxTimeout, maxOutput, maxSandboxes, languages, toolNames);
  }

  /** Sets the timeout of a command, and the longest one that a model may set. */
  public ToolOptions withTimeout(Duration normal, Duration longest) {
    return new ToolOptions(spec, normal, longest, maxOutput, maxSandboxes, languages, toolNames);
  }

  public ToolOptions withMaxOutput(int bytes) {
    return new ToolOptions(spec, timeout, maxTimeout, bytes, maxSandboxes, languages, toolNames);
  }

  public ToolOptions withMaxSandboxes(int count) {
    return new ToolOptions(spec, timeout, maxTimeout, maxOutput, count, languages, toolNames);
  }

  public ToolOptions withLanguages(CodeLanguage... all) {
    return new ToolOptions(
        spec, timeout, maxTimeout, maxOutput, maxSandboxes, List.of(all), toolNames);
  }

  /** Sets which tools a model may use, by name. */
  public ToolOptions withTools(String... names) {
    return new ToolOptions(
        spec,
        timeout,
        maxTimeout,
        maxOutput,
        maxSandboxes,
        languages,
        new LinkedHashSet<>(List.of(names)));
  }
}
