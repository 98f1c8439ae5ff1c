package dev.isola.app.remote;

import java.io.ByteArrayOutputStream;

/**
 * Finds the keys that leave a terminal and keep its command running: {@code ~.} at the beginning of
 * a line, or Ctrl-P Ctrl-Q. A key that may begin such a pair waits for the next one.
 */
final class DetachKeys {
  private static final int CTRL_P = 0x10;
  private static final int CTRL_Q = 0x11;

  private boolean lineBegins = true;
  private int held = -1;
  private boolean detached;

  /** Returns the keys that are for the command; what comes after the pair is for nobody. */
  byte[] filter(byte[] keys, int count) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < count && !detached; i++) {
      filter(keys[i] & 0xff, out);
    }
    return out.toByteArray();
  }

  private void filter(int key, ByteArrayOutputStream out) {
    int before = held;
    held = -1;
    if ((before == '~' && key == '.') || (before == CTRL_P && key == CTRL_Q)) {
      detached = true;
      return;
    }
    if (before >= 0) {
      out.write(before);
      lineBegins = false;
      if (before == '~' && key == '~') {
        return; // written twice it is meant once
      }
    }
    if (key == CTRL_P || (key == '~' && lineBegins)) {
      held = key;
      return;
    }
    out.write(key);
    lineBegins = key == '\r' || key == '\n';
  }

  boolean detached() {
    return detached;
  }
}
