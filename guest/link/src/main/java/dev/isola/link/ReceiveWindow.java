package dev.isola.link;

import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Receive side of a stream's flow control: the credit granted to the agent, and the frames that no
 * caller has consumed yet. The queue is bounded by the granted credit. Not thread-safe; guarded by
 * the lock of its stream.
 */
final class ReceiveWindow {
  private static final int MERGE_MAX = 4096;
  private static final int GAPS_MAX = 1024;

  private final int window;
  private final ArrayDeque<Frame> queue = new ArrayDeque<>();
  private long credit;
  private int consumed;
  private int gaps;
  private boolean headSeen;
  private boolean eofSeen;

  /**
   * Creates the receive side of a stream.
   *
   * @param window how many bytes the agent may have in flight
   * @param credit how much of it is already granted
   */
  ReceiveWindow(int window, long credit) {
    this.window = window;
    this.credit = credit;
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Grants the whole window. Returns its size. */
  int grantAll() {
    credit += window;
    return window;
  }

  /**
   * Validates a frame in the current state and charges its cost against the credit.
   *
   * @throws ProtocolViolation when it is not allowed
   */
  void check(Frame frame) {
    byte[] payload = frame.payload();
    switch (frame.type()) {
      case Wire.RESPONSE -> {
        require(!headSeen, "a second RESPONSE");
        headSeen = true;
        WireFields.parse(payload);
      }
      case Wire.EOF -> {
        require(!eofSeen && payload.length == 0, "a second EOF, or an EOF with content");
        eofSeen = true;
      }
      case Wire.GAP -> {
        require(payload.length == 16, "a GAP of " + payload.length + " bytes");
        require(++gaps <= GAPS_MAX, "too many GAP frames");
      }
      case Wire.DATA, Wire.OUTPUT, Wire.ITEM -> {
        require(frame.cost() > 0, "a frame without content");
        require(!eofSeen, "content after EOF");
        require(frame.cost() <= credit, "more content than the granted credit");
        credit -= frame.cost();
        if (frame.type() == Wire.ITEM) {
          WireFields.parse(payload);
        }
      }
      default -> WireFields.parse(payload);
    }
  }

  /**
   * Queues a frame. Merges small frames, so that many of them need no more memory than their bytes.
   */
  void add(Frame frame) {
    Frame last = frame.type() == Wire.DATA ? queue.peekLast() : null;
    if (last == null
        || last.type() != Wire.DATA
        || last.buffer() != null
        || frame.buffer() != null
        || last.payload().length + frame.payload().length > MERGE_MAX) {
      queue.add(frame);
      return;
    }
    byte[] joined = Arrays.copyOf(last.payload(), last.payload().length + frame.payload().length);
    System.arraycopy(frame.payload(), 0, joined, last.payload().length, frame.payload().length);
    queue.removeLast();
    queue.add(new Frame(Wire.DATA, frame.stream(), joined));
  }

  @Nullable Frame poll() {
    return queue.poll();
  }

  /**
   * Counts a frame as consumed. Returns how much credit to grant, or 0 while it is not worth a
   * frame.
   */
  int consume(Frame frame) {
    consumed += frame.cost();
    gaps -= frame.type() == Wire.GAP ? 1 : 0;
    if (consumed == 0 || consumed < window / 4) {
      return 0;
    }
    int grant = consumed;
    credit += grant;
    consumed = 0;
    return grant;
  }

  void clear() {
    queue.forEach(Frame::release);
    queue.clear();
  }

  private static void require(boolean condition, String violation) {
    if (!condition) {
      throw new ProtocolViolation(violation);
    }
  }
}
