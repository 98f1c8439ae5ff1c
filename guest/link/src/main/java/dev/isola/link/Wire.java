package dev.isola.link;

import java.nio.ByteBuffer;

/** Constants of the guest protocol: a transcription of PROTOCOL.md; change both together. */
final class Wire {
  static final int HEADER = 9;
  static final int FRAME_MAX = 262_144;
  static final int PING_MAX = 64;
  static final int OUTPUT_HEADER = 17;
  static final int VERSION = 1;
  static final int NONCE_SIZE = 32;
  static final int PROOF_SIZE = 32;
  static final int SECRET_SIZE = 32;
  static final String MAGIC_TEXT = "isola-agent";
  static final String SERVER_TEXT = "isola-server";

  /** Set in the numbers of streams opened by the agent. */
  static final int AGENT_STREAM = 0x8000_0000;

  // Frame types.
  static final int CHALLENGE = 1;
  static final int HELLO = 2;
  static final int WELCOME = 3;
  static final int PING = 4;
  static final int PONG = 5;
  static final int BYE = 6;
  static final int REQUEST = 16;
  static final int RESPONSE = 17;
  static final int DATA = 18;
  static final int EOF = 19;
  static final int CREDIT = 20;
  static final int END = 21;
  static final int ERROR = 22;
  static final int CANCEL = 23;
  static final int OUTPUT = 24;
  static final int ITEM = 25;
  static final int INCOMING = 26;
  static final int GAP = 27;

  // Error codes.
  static final int E_INVALID = 1;
  static final int E_NOT_FOUND = 2;
  static final int E_EXISTS = 3;
  static final int E_NOT_A_FOLDER = 4;
  static final int E_IS_A_FOLDER = 5;
  static final int E_NOT_EMPTY = 6;
  static final int E_DENIED = 7;
  static final int E_OUTSIDE = 8;
  static final int E_NOT_A_FILE = 9;
  static final int E_NO_SPACE = 10;
  static final int E_LIMIT = 11;
  static final int E_UNSUPPORTED = 12;
  static final int E_CANCELLED = 13;
  static final int E_IO = 14;
  static final int E_EXEC_NOT_FOUND = 15;
  static final int E_EXEC_DENIED = 16;
  static final int E_NO_SUCH_USER = 17;
  static final int E_NO_SUCH_EXECUTION = 18;
  static final int E_REFUSED = 19;
  static final int E_BAD_ARCHIVE = 20;
  static final int E_TOO_MANY_LINKS = 21;
  static final int E_READ_ONLY = 22;

  // Field values.
  static final int WRITE_ATOMIC = 1;
  static final int WRITE_PARENTS = 2;
  static final int WRITE_NEW = 4;
  static final int WRITE_APPEND = 8;
  static final int WRITE_SYNC = 16;
  static final int MKDIR_PARENTS = 2;
  static final int MOVE_REPLACE = 1;
  static final int REMOVE_RECURSIVE = 1;
  static final int TAR_EXACT_TIMES = 1;
  static final int TAR_FREEZE = 2;
  static final int TAR_MARKS = 4;
  static final int TAR_WITHOUT_HOLES = 8;
  static final int TAR_OWNERS = 1;
  static final int TAR_OWNERS_IF_ALLOWED = 2;
  static final int TAR_LAYER = 4;
  static final int WATCH_FOLDER = 1;
  static final int WATCH_MARK = 9;
  static final String FEATURE_WATCH_MARKS = "watch-marks";
  static final int USAGE_DISK = 1;
  static final int SCOPE_GROUP = 0;
  static final int SCOPE_TREE = 1;
  static final int XATTR_LIST = 0;
  static final int XATTR_GET = 1;
  static final int XATTR_SET = 2;
  static final int XATTR_REMOVE = 3;
  static final int CHANNEL_STDOUT = 1;
  static final int CHANNEL_STDERR = 2;
  static final int CHANNEL_TERMINAL = 3;
  static final int EXIT_EXITED = 0;
  static final int EXIT_SIGNALED = 1;
  static final int EXIT_TIMED_OUT = 2;
  static final int EXIT_OUT_OF_MEMORY = 3;

  private Wire() {}

  static int getInt(byte[] bytes, int at) {
    return (bytes[at] & 0xff) << 24
        | (bytes[at + 1] & 0xff) << 16
        | (bytes[at + 2] & 0xff) << 8
        | (bytes[at + 3] & 0xff);
  }

  static long getLong(byte[] bytes, int at) {
    return (long) getInt(bytes, at) << 32 | (getInt(bytes, at + 4) & 0xffff_ffffL);
  }

  static void putInt(byte[] bytes, int at, int value) {
    bytes[at] = (byte) (value >>> 24);
    bytes[at + 1] = (byte) (value >>> 16);
    bytes[at + 2] = (byte) (value >>> 8);
    bytes[at + 3] = (byte) value;
  }

  static void putLong(byte[] bytes, int at, long value) {
    putInt(bytes, at, (int) (value >>> 32));
    putInt(bytes, at + 4, (int) value);
  }

  /** Writes the header into the first nine bytes of {@code frame}, which is the whole frame. */
  static byte[] header(byte[] frame, int type, int stream) {
    putInt(frame, 0, frame.length - HEADER);
    frame[4] = (byte) type;
    putInt(frame, 5, stream);
    return frame;
  }

  /** Writes the header into the room that {@code frame} has before its content. */
  static ByteBuffer header(ByteBuffer frame, int type, int stream) {
    return frame.putInt(0, frame.remaining() - HEADER).put(4, (byte) type).putInt(5, stream);
  }

  /** Returns the header of a frame whose payload is sent separately. */
  static byte[] header(int type, int stream, int length) {
    byte[] header = header(new byte[HEADER], type, stream);
    putInt(header, 0, length);
    return header;
  }

  /** Returns a whole frame with {@code payload}. */
  static byte[] frame(int type, int stream, byte[] payload) {
    byte[] frame = new byte[HEADER + payload.length];
    System.arraycopy(payload, 0, frame, HEADER, payload.length);
    return header(frame, type, stream);
  }

  static byte[] frame(int type, int stream) {
    return header(new byte[HEADER], type, stream);
  }

  static byte[] credit(int stream, int bytes) {
    byte[] frame = new byte[HEADER + 4];
    putInt(frame, HEADER, bytes);
    return header(frame, CREDIT, stream);
  }
}
