package dev.isola.link;

/**
 * Operations of the agent and the frame types allowed in reply. Any other frame on such a stream
 * closes the connection.
 */
enum AgentOperation {
  EXEC(1, Effect.MUTATING, Wire.RESPONSE, Wire.OUTPUT, Wire.GAP, Wire.CREDIT),
  ATTACH(2, Effect.NONE, Wire.RESPONSE, Wire.OUTPUT, Wire.GAP, Wire.CREDIT),
  EXEC_LIST(3, Effect.NONE, Wire.ITEM),
  SIGNAL(4, Effect.MUTATING),
  RESIZE(5, Effect.NONE),
  STAT(6, Effect.NONE),
  LIST(7, Effect.NONE, Wire.ITEM),
  READ(8, Effect.NONE, Wire.RESPONSE, Wire.DATA, Wire.EOF),
  WRITE(9, Effect.MUTATING, Wire.CREDIT),
  MKDIR(10, Effect.MUTATING),
  MOVE(11, Effect.MUTATING),
  REMOVE(12, Effect.MUTATING),
  CHMOD(13, Effect.MUTATING),
  CHOWN(14, Effect.MUTATING),
  GLOB(15, Effect.NONE, Wire.ITEM),
  SYMLINK(16, Effect.MUTATING),
  XATTR(17, Effect.MUTATING),
  TAR_OUT(18, Effect.NONE, Wire.RESPONSE, Wire.DATA, Wire.EOF),
  TAR_IN(19, Effect.MUTATING, Wire.CREDIT),
  WATCH(20, Effect.NONE, Wire.RESPONSE, Wire.ITEM, Wire.CREDIT),
  DIAL(21, Effect.NONE, Wire.RESPONSE, Wire.DATA, Wire.EOF, Wire.CREDIT),
  RELAY(22, Effect.NONE, Wire.RESPONSE),
  USAGE(23, Effect.NONE),
  DEADLINE(24, Effect.NONE),
  SHUTDOWN(25, Effect.MUTATING),
  KILL_ALL(26, Effect.MUTATING),
  HOLD(27, Effect.MUTATING),
  RELEASE(28, Effect.MUTATING),
  IDENTIFY(29, Effect.MUTATING),
  EGRESS(30, Effect.NONE, Wire.RESPONSE),
  /** Not a request: a stream that the agent opened with INCOMING. */
  INCOMING(0, Effect.NONE, Wire.DATA, Wire.EOF, Wire.CREDIT);

  /** Whether an operation changes the sandbox. */
  enum Effect {
    NONE,
    MUTATING
  }

  private final int value;
  private final Effect effect;
  private final int answers;

  AgentOperation(int value, Effect effect, int... answers) {
    this.value = value;
    this.effect = effect;
    int mask = 1 << Wire.END | 1 << Wire.ERROR;
    for (int type : answers) {
      mask |= 1 << type;
    }
    this.answers = mask;
  }

  int value() {
    return value;
  }

  /** Returns true when the outcome is unknown if the reply is lost. */
  boolean isMutating() {
    return effect == Effect.MUTATING;
  }

  /**
   * Returns true when a stream that has started is not needed to continue: its caller opens another
   * one, or it carries a network connection, which may end at any time.
   */
  boolean isReopened() {
    return switch (this) {
      case EXEC, ATTACH, WATCH, DIAL, RELAY, EGRESS, INCOMING -> true;
      default -> false;
    };
  }

  /** Returns true when the reply is content of a file or a connection, which may be large. */
  boolean isBulk() {
    return switch (this) {
      case READ, TAR_OUT, DIAL, INCOMING -> true;
      default -> false;
    };
  }

  boolean allowsReply(int frameType) {
    return (answers & 1 << frameType) != 0;
  }
}
