package dev.isola.server.preview;

import dev.isola.server.route.Exchange;
import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/** A request to a port of a sandbox. Only its head has been parsed. */
public interface PreviewExchange extends Exchange {

  String method();

  /** Returns all headers in order. */
  List<Header> headers();

  /** Returns the path prefix of the sandbox's port; empty in host form. */
  String prefix();

  /** Returns the path and query for the sandbox, percent-encoded as they were sent. */
  String target();

  /** Returns whether the request comes from a page of another origin. */
  boolean isCrossOrigin();

  /** Returns the limits that apply to the request. */
  PreviewThrottle throttle();

  /** Returns the length of the body in bytes; -1 if unknown, 0 if there is none. */
  long length();

  /** Returns the address of the client. */
  String remote();

  /** Begins a response with these headers and none of the server's except the request id. */
  OutputStream begin(int status, List<Header> headers) throws IOException;

  /**
   * Responds with status 101 and then copies bytes in both directions.
   *
   * @param early bytes that the sandbox sent after its response head
   */
  void tunnel(List<Header> headers, PortDialing.Connection port, byte[] early) throws IOException;
}
