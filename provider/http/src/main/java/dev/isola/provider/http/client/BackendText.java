package dev.isola.provider.http.client;

/** Text of a backend, which is not trusted. */
public final class BackendText {
  private static final int LONGEST = 300;

  private BackendText() {}

  /** Returns the text on one line of limited length, without control characters. */
  public static String line(String untrusted) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < untrusted.length() && i < LONGEST; i++) {
      char c = untrusted.charAt(i);
      boolean printable = !Character.isISOControl(c) && Character.getType(c) != Character.FORMAT;
      line.append(printable && !Character.isSurrogate(c) ? c : ' ');
    }
    return line.toString().strip();
  }
}
