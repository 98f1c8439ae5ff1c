/** The smallest provider based on the guest agent, built step by step in ADD-PROVIDER.md. */
@NullMarked
package dev.isola.provider.example;

import org.jspecify.annotations.NullMarked;
