package dev.isola.document.dockerfile;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An instruction of a Dockerfile, with continued lines joined.
 *
 * @param line the number of its first line, starting at 1
 * @param keyword in upper case
 * @param text what follows the keyword
 */
record Instruction(int line, String keyword, String text) {
  private static final int MAX_INSTRUCTIONS = 2000;
  private static final Pattern CONTINUED = Pattern.compile("\\\\[ \\t]*$");
  private static final Pattern ESCAPE =
      Pattern.compile("#\\s*escape\\s*=\\s*(\\S+).*", Pattern.CASE_INSENSITIVE);
  private static final Pattern HEREDOC = Pattern.compile("(?:^|\\s)[0-9]*<<-?[\"']?[A-Za-z_]");

  /** Splits a Dockerfile into instructions; drops comments and empty lines. */
  static List<Instruction> parse(String file) {
    List<Instruction> all = new ArrayList<>();
    List<String> lines = file.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (isIgnored(line)) {
        refuseOtherEscape(line, i + 1, all.isEmpty());
        continue;
      }
      int first = i + 1;
      StringBuilder text = new StringBuilder();
      Matcher continued = CONTINUED.matcher(line);
      while (continued.find()) {
        text.append(line, 0, continued.start());
        do {
          i++;
        } while (i < lines.size() && isIgnored(lines.get(i)));
        line = i < lines.size() ? lines.get(i) : "";
        continued = CONTINUED.matcher(line);
      }
      all.add(of(first, text.append(line).toString().strip()));
      if (all.size() > MAX_INSTRUCTIONS) {
        throw refused(
            first,
            "the file has more than " + MAX_INSTRUCTIONS + " instructions",
            "join commands with &&, or build in several images");
      }
    }
    return all;
  }

  private static boolean isIgnored(String line) {
    String text = line.strip();
    return text.isEmpty() || text.startsWith("#");
  }

  private static void refuseOtherEscape(String line, int number, boolean beforeInstructions) {
    Matcher directive = ESCAPE.matcher(line.strip());
    if (beforeInstructions && directive.matches() && !directive.group(1).equals("\\")) {
      throw refused(
          number,
          "the escape character " + directive.group(1) + " is not supported",
          "remove the directive and use \\");
    }
  }

  private static Instruction of(int line, String text) {
    String[] parts = text.split("\\s+", 2);
    Instruction instruction =
        new Instruction(
            line, parts[0].toUpperCase(Locale.ROOT), parts.length > 1 ? parts[1].strip() : "");
    if (List.of("RUN", "COPY", "ADD").contains(instruction.keyword())
        && HEREDOC.matcher(instruction.text()).find()) {
      throw instruction.refused(
          "here-documents (<<) are not supported",
          "put the text into a file of the folder and COPY it, or join commands with &&");
    }
    return instruction;
  }

  /** Returns the error for this instruction. */
  SandboxException refused(String problem, String remedy) {
    return refused(line, problem, remedy);
  }

  static SandboxException refused(int line, String problem, String remedy) {
    return Fault.of(ErrorCode.INVALID_REQUEST, "Dockerfile, line " + line + ": " + problem, remedy)
        .with("line", Integer.toString(line))
        .exception();
  }

  /** Returns the value of a flag such as {@code --chown=user}; the flags come first. */
  Flags flags() {
    List<String> flags = new ArrayList<>();
    String rest = text;
    while (rest.startsWith("--")) {
      String[] parts = rest.split("\\s+", 2);
      flags.add(parts[0].substring(2));
      rest = parts.length > 1 ? parts[1] : "";
    }
    return new Flags(List.copyOf(flags), rest);
  }

  /**
   * The flags of an instruction.
   *
   * @param flags {@code NAME} or {@code NAME=VALUE}
   * @param rest the text after the flags
   */
  record Flags(List<String> flags, String rest) {}
}
