package dev.isola.client.junit;

import dev.isola.client.Execution;
import dev.isola.client.ExecutionInfo;
import dev.isola.client.Output;
import dev.isola.client.Sandbox;
import dev.isola.client.error.IsolaException;
import java.util.List;
import java.util.Optional;

/** Output of the commands of a sandbox, printed when a test fails. */
final class SandboxLogs {
  /** Bytes printed per command, from the end of its output. */
  private static final int MAX_BYTES = 16 * 1024;

  private static final int MAX_COMMANDS = 20;

  private SandboxLogs() {}

  static String of(Sandbox sandbox) {
    StringBuilder text = new StringBuilder("--- sandbox " + sandbox.id() + "\n");
    try {
      List<ExecutionInfo> all = sandbox.executions();
      for (ExecutionInfo info : all.subList(Math.max(0, all.size() - MAX_COMMANDS), all.size())) {
        text.append("--- ").append(String.join(" ", info.argv())).append(": ").append(end(info));
        text.append('\n').append(output(sandbox, info));
        if (text.charAt(text.length() - 1) != '\n') {
          text.append('\n');
        }
      }
    } catch (IsolaException e) {
      text.append("--- the logs are incomplete: ").append(e.getMessage()).append('\n');
    }
    return text.append("---\n").toString();
  }

  private static String end(ExecutionInfo info) {
    return info.exit().map(exit -> exit.document().toString()).orElse("still running");
  }

  private static String output(Sandbox sandbox, ExecutionInfo info) {
    StringBuilder text = new StringBuilder();
    long from = Math.max(info.firstOffset(), info.endOffset() - MAX_BYTES);
    try (Execution execution = sandbox.execution(info.id(), from)) {
      // Stop at the current end: a command that is still running may never exit.
      while (execution.offset() < info.endOffset()) {
        Optional<Output> piece = execution.read();
        if (piece.isEmpty()) {
          break;
        }
        if (piece.get() instanceof Output.Data data) {
          text.append(data.text());
        }
      }
    }
    return text.toString();
  }
}
