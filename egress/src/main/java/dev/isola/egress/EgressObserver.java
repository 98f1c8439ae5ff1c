package dev.isola.egress;

/** Is told what sandboxes do on the network. Methods are called on hot paths and must not block. */
public interface EgressObserver {
  /** A connection or a request was denied. */
  void denied(Denial denial);

  /** A connection was established. */
  void opened(ConnectionView connection);

  /** A connection that had been established ended. */
  void closed(ConnectionView connection);
}
