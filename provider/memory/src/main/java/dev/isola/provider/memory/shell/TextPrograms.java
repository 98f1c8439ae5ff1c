package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.process.OpenFile;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** Programs that read and write text. */
final class TextPrograms {
  private static final int BUFFER = 64 * 1024;

  private TextPrograms() {}

  static Map<String, Program> all() {
    return Map.of(
        "echo", TextPrograms::echo,
        "printf", call -> new Printf(call).run(),
        "cat", TextPrograms::cat,
        "head", TextPrograms::head,
        "tail", TextPrograms::tail,
        "wc", TextPrograms::count,
        "seq", TextPrograms::sequence,
        "yes", TextPrograms::yes,
        "tee", TextPrograms::tee,
        "tr", TextPrograms::translate);
  }

  private static int echo(Call call) throws IOException, InterruptedException {
    List<String> words = call.arguments();
    boolean plain = !words.isEmpty() && words.getFirst().equals("-n");
    call.out(
        String.join(" ", plain ? words.subList(1, words.size()) : words) + (plain ? "" : "\n"));
    return 0;
  }

  private interface Consumer {
    /** Takes some bytes; false when it has enough. */
    boolean take(byte[] bytes, int count) throws IOException, InterruptedException;
  }

  /** Feeds the files that are named, or standard input, one after the other. */
  private static int each(Call call, List<String> names, Consumer consumer)
      throws IOException, InterruptedException {
    int status = 0;
    for (String name : names.isEmpty() ? List.of("-") : names) {
      try {
        OpenFile file =
            name.equals("-")
                ? call.proc()
                    .descriptor(0)
                    .orElseThrow(() -> new IOException("no standard input"))
                    .retain()
                : OpenFiles.forReading(call.proc(), call.path(name));
        try {
          feed(call, file, consumer);
        } finally {
          file.release();
        }
      } catch (SandboxException e) {
        status = call.complain(name, e);
      }
    }
    return status;
  }

  private static void feed(Call call, OpenFile file, Consumer consumer)
      throws IOException, InterruptedException {
    byte[] buffer = new byte[BUFFER];
    int count;
    do {
      call.proc().checkpoint();
      count = file.read(buffer, 0, buffer.length);
    } while (count >= 0 && consumer.take(buffer, count));
  }

  private static int cat(Call call) throws IOException, InterruptedException {
    List<String> names = call.arguments().stream().filter(name -> !name.equals("-u")).toList();
    return each(
        call,
        names,
        (bytes, count) -> {
          call.proc().write(1, bytes, count);
          return true;
        });
  }

  /**
   * Reads {@code -c N} or {@code -n N}, in one word or two; returns N, bytes as a negative number.
   */
  private static long amount(List<String> rest) throws IOException {
    if (rest.isEmpty() || !rest.getFirst().matches("-[cn]?.*") || rest.getFirst().equals("-")) {
      return 10;
    }
    String option = rest.removeFirst();
    boolean bytes = option.startsWith("-c");
    String number = option.substring(option.matches("-[cn].*") ? 2 : 1);
    if (number.isEmpty() && !rest.isEmpty()) {
      number = rest.removeFirst();
    }
    try {
      long amount = Long.parseLong(number);
      return bytes ? -amount - 1 : amount;
    } catch (NumberFormatException e) {
      throw new IOException("invalid number: '" + number + "'", e);
    }
  }

  private static int head(Call call) throws IOException, InterruptedException {
    List<String> rest = new ArrayList<>(call.arguments());
    long amount = amount(rest);
    long[] left = {amount < 0 ? -amount - 1 : amount};
    if (left[0] == 0) {
      return 0;
    }
    return each(
        call,
        rest,
        (bytes, count) -> {
          int end = 0;
          while (end < count && left[0] > 0) {
            if (amount < 0) {
              int some = (int) Math.min(left[0], count - end);
              end += some;
              left[0] -= some;
            } else if (bytes[end++] == '\n') {
              left[0]--;
            }
          }
          call.proc().write(1, bytes, end);
          return left[0] > 0;
        });
  }

  private static int tail(Call call) throws IOException, InterruptedException {
    List<String> rest = new ArrayList<>(call.arguments());
    long amount = amount(rest);
    Deque<String> lines = new ArrayDeque<>();
    StringBuilder line = new StringBuilder();
    int status =
        each(
            call,
            rest,
            (bytes, count) -> {
              for (int i = 0; i < count; i++) {
                line.append((char) (bytes[i] & 0xff));
                if (bytes[i] == '\n' || amount < 0) {
                  lines.add(line.toString());
                  line.setLength(0);
                  if (lines.size() > (amount < 0 ? -amount - 1 : amount)) {
                    lines.poll();
                  }
                }
              }
              return true;
            });
    if (!line.isEmpty() && lines.size() >= amount && amount >= 0) {
      lines.poll();
    }
    call.out(String.join("", lines) + line);
    return status;
  }

  private static int count(Call call) throws IOException, InterruptedException {
    List<String> rest = new ArrayList<>(call.arguments());
    String what = !rest.isEmpty() && rest.getFirst().startsWith("-") ? rest.removeFirst() : "-c";
    long[] found = new long[2];
    int status =
        each(
            call,
            rest,
            (bytes, count) -> {
              found[0] += count;
              for (int i = 0; i < count; i++) {
                found[1] += bytes[i] == '\n' ? 1 : 0;
              }
              return true;
            });
    String name = rest.isEmpty() ? "" : " " + rest.getFirst();
    call.out((what.contains("l") ? found[1] : found[0]) + name + "\n");
    return status;
  }

  private static int sequence(Call call) throws IOException, InterruptedException {
    List<Long> numbers = call.arguments().stream().map(Long::parseLong).toList();
    long first = numbers.size() > 1 ? numbers.getFirst() : 1;
    long step = numbers.size() > 2 ? numbers.get(1) : 1;
    long last = numbers.getLast();
    StringBuilder text = new StringBuilder();
    for (long i = first; step > 0 ? i <= last : i >= last; i += step) {
      text.append(i).append('\n');
      if (text.length() > BUFFER) {
        call.out(text.toString());
        text.setLength(0);
      }
    }
    call.out(text.toString());
    return 0;
  }

  private static int yes(Call call) throws IOException, InterruptedException {
    String line = (call.arguments().isEmpty() ? "y" : String.join(" ", call.arguments())) + "\n";
    String many = line.repeat(Math.max(1, 8192 / line.length()));
    while (true) {
      call.out(many);
    }
  }

  private static int tee(Call call) throws IOException, InterruptedException {
    List<OpenFile> files = new ArrayList<>();
    boolean append = call.arguments().contains("-a");
    for (String name : call.arguments()) {
      if (!name.equals("-a")) {
        files.add(OpenFiles.forWriting(call.proc(), call.path(name), append));
      }
    }
    return each(
        call,
        List.of(),
        (bytes, count) -> {
          call.proc().write(1, bytes, count);
          for (OpenFile file : files) {
            file.write(bytes, 0, count);
          }
          return true;
        });
  }

  private static int translate(Call call) throws IOException, InterruptedException {
    boolean delete = call.arguments().getFirst().equals("-d");
    String from = Printf.unescape(call.arguments().get(delete ? 1 : 0));
    String to = delete ? "" : Printf.unescape(call.arguments().get(1));
    return each(
        call,
        List.of(),
        (bytes, count) -> {
          StringBuilder text = new StringBuilder();
          for (int i = 0; i < count; i++) {
            char c = (char) (bytes[i] & 0xff);
            int at = from.indexOf(c);
            if (at < 0) {
              text.append(c);
            } else if (!delete) {
              text.append(to.charAt(Math.min(at, to.length() - 1)));
            }
          }
          call.out(text.toString());
          return true;
        });
  }
}
