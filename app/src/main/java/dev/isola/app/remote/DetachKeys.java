package dev.isola.app.remote;

import java.io.ByteArrayOutputStream;

/**
 * Recognizes the key sequences that detach from a terminal while its command keeps running: {@code
 * ~.} at the beginning of a line, or Ctrl-P Ctrl-Q. The first key of a sequence is held back until
 * the next one arrives.
 */
final class DetachKeys {
  private static final int CTRL_P = 0x10;
  private static final int CTRL_Q = 0x11;

  private boolean lineStart = true;
  private int held = -1;
  private boolean detached;

  /** Returns the keys to send to the command. Keys after a detach sequence are dropped. */
  byte[] filter(byte[] keys, int count) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < count && !detached; i++) {
      filter(keys[i] & 0xff, out);
    }
    return out.toByteArray();
  }

  private void filter(int key, ByteArrayOutputStream out) {
    int previous = held;
    held = -1;
    if ((previous == '~' && key == '.') || (previous == CTRL_P && key == CTRL_Q)) {
      detached = true;
      return;
    }
    if (previous >= 0) {
      out.write(previous);
      lineStart = false;
      if (previous == '~' && key == '~') {
        return; // ~~ sends a single ~
      }
    }
    if (key == CTRL_P || (key == '~' && lineStart)) {
      held = key;
      return;
    }
    out.write(key);
    lineStart = key == '\r' || key == '\n';
  }

  boolean detached() {
    return detached;
  }
}
