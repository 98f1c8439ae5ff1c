package dev.isola.spi.capability;

import dev.isola.spi.Secret;

/**
 * Lets a peer, such as another server, work with the sandbox in the guest protocol: commands,
 * terminals, files, watches and ports. This server keeps its own connection to the guest agent, and
 * operations that belong to the owner of the sandbox, such as ending it, are refused.
 */
@FunctionalInterface
public interface GuestProtocolAccess {
  /**
   * Opens a channel. What the peer sends is written to it, and what the peer receives is read from
   * it. The channel takes the role of the agent: it sends the first frame. Commands that the peer
   * has started continue when the channel is closed.
   *
   * @param secret what the peer has to prove its knowledge of
   * @throws dev.isola.spi.error.Gone if the sandbox no longer exists
   * @throws dev.isola.spi.error.Conflict if it is paused or stopped
   */
  PortDialing.Connection open(Secret secret);
}
