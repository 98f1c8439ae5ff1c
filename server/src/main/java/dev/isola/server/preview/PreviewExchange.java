package dev.isola.server.preview;

import dev.isola.server.route.Exchange;
import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/** A request for the port of a sandbox, as it was sent: nothing but its head was looked at. */
public interface PreviewExchange extends Exchange {

  String method();

  /** Returns all headers in order. */
  List<Header> headers();

  /** Returns what stands before the paths of the sandbox; empty when it has a host of its own. */
  String prefix();

  /** Returns the path and the query as the sandbox is to see them, percent signs and all. */
  String target();

  /** Tells whether a page asks that is neither ours nor of this preview. */
  boolean isCrossOrigin();

  /** Returns the limits that the request is under. */
  PreviewThrottle throttle();

  /** Returns how many bytes the body has; -1 when that is not known, 0 when there is none. */
  long length();

  /** Returns the address of who asks. */
  String remote();

  /** Begins an answer with these headers and no other of ours but the request's id. */
  OutputStream begin(int status, List<Header> headers) throws IOException;

  /**
   * Answers 101 and passes bytes both ways from then on.
   *
   * @param early what the sandbox has sent behind its answer
   */
  void tunnel(List<Header> headers, PortDialing.Connection port, byte[] early) throws IOException;
}
