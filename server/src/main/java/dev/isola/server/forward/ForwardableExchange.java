package dev.isola.server.forward;

import dev.isola.server.route.Exchange;
import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/** A request that can be passed on as it was sent. Only its head has been parsed. */
public interface ForwardableExchange extends Exchange {

  String method();

  /** Returns all headers in order. */
  List<Header> headers();

  /** Returns the length of the body in bytes; -1 if unknown, 0 if there is none. */
  long length();

  /** Puts a body back that was read completely, so that the handler can read it. */
  void restoreContent(byte[] read);

  /** Returns the address of the client. */
  String remote();

  /** Begins a response with these headers and none of the server's except the request id. */
  OutputStream begin(int status, List<Header> headers) throws IOException;

  /**
   * Responds with status 101 and then copies bytes in both directions.
   *
   * @param early bytes that the other side sent after its response head
   */
  void tunnel(List<Header> headers, PortDialing.Connection other, byte[] early) throws IOException;
}
