package dev.isola.provider.memory.shell;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The {@code read} of the shell. */
final class ReadLine {
  private final Shell shell;

  ReadLine(Shell shell) {
    this.shell = shell;
  }

  int run(List<String> arguments) throws IOException, InterruptedException {
    List<String> names = new ArrayList<>(arguments);
    boolean raw = names.removeIf(name -> name.equals("-r"));
    StringBuilder line = new StringBuilder();
    boolean ended = readLine(line, raw);
    assign(names.isEmpty() ? List.of("REPLY") : names, line.toString());
    return ended ? 0 : 1;
  }

  /** Reads byte by byte, so that what follows the line is left for others. */
  private boolean readLine(StringBuilder line, boolean raw)
      throws IOException, InterruptedException {
    byte[] one = new byte[1];
    while (shell.proc().read(0, one) > 0) {
      char c = (char) (one[0] & 0xff);
      if (c == '\n') {
        return true;
      }
      if (c == '\\' && !raw) {
        if (shell.proc().read(0, one) > 0 && one[0] != '\n') {
          line.append((char) (one[0] & 0xff));
        }
      } else {
        line.append(c);
      }
    }
    return false;
  }

  private void assign(List<String> names, String line) {
    boolean keepSpaces = shell.isSet("IFS") && shell.variable("IFS").isEmpty();
    String rest = keepSpaces ? line : line.strip();
    for (int i = 0; i < names.size(); i++) {
      String[] parts = i == names.size() - 1 ? new String[] {rest} : rest.split("[ \t]+", 2);
      shell.assign(names.get(i), parts[0]);
      rest = parts.length > 1 ? parts[1] : "";
    }
  }
}
