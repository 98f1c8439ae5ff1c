package dev.isola.provider.memory.shell;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The {@code printf} program: the format is used again while arguments are left. */
final class Printf {
  private static final Pattern CONVERSION =
      Pattern.compile("%([-0 +#]*[0-9]*)(?:\\.([0-9]+))?([a-zA-Z%])");

  private final Call call;
  private final Deque<String> arguments;
  private int status;

  Printf(Call call) {
    this.call = call;
    this.arguments = new ArrayDeque<>(call.arguments());
  }

  int run() throws IOException, InterruptedException {
    if (arguments.isEmpty()) {
      call.complain("usage: printf format [arg ...]");
      return 2;
    }
    String format = arguments.pop();
    boolean consumes;
    StringBuilder all = new StringBuilder();
    do {
      int before = arguments.size();
      all.append(once(format));
      consumes = arguments.size() < before;
    } while (consumes && !arguments.isEmpty());
    call.out(all.toString());
    return status;
  }

  private String once(String format) throws IOException, InterruptedException {
    StringBuilder text = new StringBuilder();
    Matcher matcher = CONVERSION.matcher(format);
    int at = 0;
    while (matcher.find(at)) {
      text.append(unescape(format.substring(at, matcher.start())));
      text.append(convert(matcher));
      at = matcher.end();
    }
    return text.append(unescape(format.substring(at))).toString();
  }

  private String convert(Matcher conversion) throws IOException, InterruptedException {
    String flags = conversion.group(1);
    String precision = conversion.group(2);
    char kind = conversion.group(3).charAt(0);
    if (kind == '%') {
      return "%";
    }
    String argument = arguments.isEmpty() ? "" : arguments.pop();
    return switch (kind) {
      case 's', 'b' -> {
        String value = kind == 'b' ? unescape(argument) : argument;
        int length = precision == null ? value.length() : Integer.parseInt(precision);
        String cut = value.substring(0, Math.min(length, value.length()));
        yield flags.isEmpty() ? cut : String.format(Locale.ROOT, "%" + flags + "s", cut);
      }
      case 'c' -> argument.isEmpty() ? "" : argument.substring(0, 1);
      case 'd', 'i', 'u' -> String.format(Locale.ROOT, "%" + flags + "d", number(argument));
      case 'x', 'X', 'o' -> String.format(Locale.ROOT, "%" + flags + kind, number(argument));
      default -> {
        status = call.complain("%" + kind + ": invalid directive");
        yield "";
      }
    };
  }

  private long number(String argument) throws IOException, InterruptedException {
    try {
      return argument.isEmpty() ? 0 : Long.decode(argument);
    } catch (NumberFormatException e) {
      status = call.complain(argument + ": expected numeric value");
      return 0;
    }
  }

  /** Replaces {@code \n}, {@code \101}, {@code \x41} and their like. */
  static String unescape(String text) {
    StringBuilder result = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != '\\' || i + 1 == text.length()) {
        result.append(c);
        continue;
      }
      char next = text.charAt(++i);
      int known = "abfnrtv\\\"'".indexOf(next);
      if (known >= 0) {
        result.append("\u0007\b\f\n\r\t\u000b\\\"'".charAt(known));
      } else if (next >= '0' && next <= '7') {
        int end = i;
        while (end < text.length()
            && end < i + (next == '0' ? 4 : 3)
            && text.charAt(end) >= '0'
            && text.charAt(end) <= '7') {
          end++;
        }
        result.append((char) (Integer.parseInt(text.substring(i, end), 8) & 0xff));
        i = end - 1;
      } else {
        result.append(c).append(next);
      }
    }
    return result.toString();
  }
}
