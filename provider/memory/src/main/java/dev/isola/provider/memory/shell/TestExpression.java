package dev.isola.provider.memory.shell;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The {@code test} program, by both of its names. */
final class TestExpression {
  private final Call call;
  private final List<String> words;
  private int at;

  TestExpression(Call call) {
    this.call = call;
    this.words = new ArrayList<>(call.arguments());
  }

  int run() throws IOException, InterruptedException {
    if (call.name().equals("[")) {
      if (words.isEmpty() || !words.removeLast().equals("]")) {
        call.complain("missing ]");
        return 2;
      }
    }
    try {
      boolean result = !words.isEmpty() && either();
      if (at < words.size()) {
        throw new SyntaxError("unexpected operator", false);
      }
      return result ? 0 : 1;
    } catch (SyntaxError | NumberFormatException e) {
      call.complain(String.valueOf(e.getMessage()));
      return 2;
    }
  }

  private boolean either() {
    boolean result = both();
    while (at < words.size() && words.get(at).equals("-o")) {
      at++;
      result |= both();
    }
    return result;
  }

  private boolean both() {
    boolean result = primary();
    while (at < words.size() && words.get(at).equals("-a")) {
      at++;
      result &= primary();
    }
    return result;
  }

  private String take() {
    if (at >= words.size()) {
      throw new SyntaxError("argument expected", false);
    }
    return words.get(at++);
  }

  private boolean primary() {
    int left = words.size() - at;
    String first = take();
    if (left >= 3 && isBinary(words.get(at))) {
      return binary(first, take(), take());
    }
    if (first.equals("!") && left > 1) {
      return !primary();
    }
    if (left >= 2 && first.matches("-[a-zA-Z]")) {
      return unary(first, take());
    }
    return !first.isEmpty();
  }

  private static boolean isBinary(String word) {
    return switch (word) {
      case "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge" -> true;
      default -> false;
    };
  }

  private static boolean binary(String left, String operator, String right) {
    return switch (operator) {
      case "=", "==" -> left.equals(right);
      case "!=" -> !left.equals(right);
      default -> {
        int order = Long.compare(Long.parseLong(left.strip()), Long.parseLong(right.strip()));
        yield switch (operator) {
          case "-eq" -> order == 0;
          case "-ne" -> order != 0;
          case "-lt" -> order < 0;
          case "-le" -> order <= 0;
          case "-gt" -> order > 0;
          default -> order >= 0;
        };
      }
    };
  }

  private boolean unary(String operator, String operand) {
    return switch (operator) {
      case "-n" -> !operand.isEmpty();
      case "-z" -> operand.isEmpty();
      case "-t" ->
          call.proc()
              .descriptor(Integer.parseInt(operand))
              .filter(file -> file.terminal().isPresent())
              .isPresent();
      case "-e" -> is(operand, true, info -> true);
      case "-f" -> is(operand, true, info -> info.type() == FileType.FILE);
      case "-d" -> is(operand, true, info -> info.type() == FileType.FOLDER);
      case "-L", "-h" -> is(operand, false, info -> info.type() == FileType.LINK);
      case "-s" -> is(operand, true, info -> info.size() > 0);
      case "-r", "-w" -> is(operand, true, info -> true);
      case "-x" ->
          is(operand, true, info -> info.type() == FileType.FOLDER || (info.mode() & 0111) != 0);
      default -> throw new SyntaxError(operator + ": unexpected operator", false);
    };
  }

  private boolean is(String raw, boolean follow, Predicate<FileInfo> predicate) {
    if (raw.isEmpty()) {
      return false;
    }
    try {
      Optional<FileInfo> found = call.tree().find(call.path(raw), follow);
      return found.filter(predicate).isPresent();
    } catch (SandboxException unreachable) {
      return false;
    }
  }
}
