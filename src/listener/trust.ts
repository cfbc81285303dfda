/** Who may say for whom a request is made? */
import { BlockList, isIP } from "node:net";

/** True for an address (as a socket gives it) whose `X-Forwarded-*` are believed. */
export type Trusts = (address: string) => boolean;

/** From networks in CIDR form or single addresses. Throws RangeError for one that is neither. */
export function createTrust(networks: readonly string[]): Trusts {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) add(list, network);
  return (address) => {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
  };
}

/** An address without the IPv6 wrapping of IPv4 peers. */
export function plainAddress(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}

function add(list: BlockList, network: string): void {
  const [address = "", bits, rest] = network.split("/");
  const longest = isIP(address) === 6 ? 128 : 32;
  const prefix = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (isIP(address) === 0 || rest !== undefined || !(prefix <= longest)) {
    throw new RangeError(`not a network: ${network}`);
  }
  list.addSubnet(address, prefix, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
