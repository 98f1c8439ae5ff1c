package dev.isola.integrations.tools;

import java.util.regex.Pattern;

/**
 * Output of guest processes as plain text. A guest process chooses what it prints; escape sequences
 * in it would reach the terminal of the developer that prints or logs a conversation.
 */
final class PlainText {
  /**
   * CSI sequences such as colours, OSC and other strings up to their end, two-character escapes.
   */
  private static final Pattern ESCAPES =
      Pattern.compile(
          "\u001b\\[[0-?]*+[ -/]*+[@-~]"
              + "|\u001b[\\]PX^_][^\u0007\u001b]*+(?:\u0007|\u001b\\\\)"
              + "|\u001b[ -/]*+[0-Z\\\\^-~]");

  /** Everything that is not printable, but tabs and line breaks; and what reorders text. */
  private static final Pattern CONTROLS =
      Pattern.compile("[\\p{Cc}&&[^\\t\\n]]|[\u202a-\u202e\u2066-\u2069]");

  private PlainText() {}

  /** Removes escape sequences; replaces other control characters by U+FFFD. */
  static String of(String output) {
    String text = ESCAPES.matcher(output.replace("\r\n", "\n")).replaceAll("");
    return CONTROLS.matcher(text.replace('\r', '\n')).replaceAll("\ufffd");
  }

  /** Returns a name or path on one line. */
  static String line(String name) {
    return of(name).replaceAll("[\\n\\t]", "\ufffd");
  }
}
