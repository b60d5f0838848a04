//! Deadlock of flow control: buffers that wait for each other in a circle.
//!
//! A paused link depends on another where bytes that came in by it wait for the other, which is paused itself, and alone
//! keep it beyond XON. In a circle of such links none is ever released.

use std::collections::{BTreeMap, BTreeSet};

/// Finds a circle in a graph of links, each with those that it depends on: its links in order, from the smallest.
pub fn circle(depends_on: &BTreeMap<usize, Vec<usize>>) -> Option<Vec<usize>> {
    let mut done = BTreeSet::new();
    for &start in depends_on.keys() {
        // Depth first: the links on the path, with how many of their successors have been tried.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((link, tried)) = path.last_mut() {
            let (link, successor) = (*link, depends_on.get(link).and_then(|all| all.get(*tried)).copied());
            *tried += 1;
            match successor {
                None => {
                    done.insert(link);
                    path.pop();
                }
                Some(next) => match path.iter().position(|(link, _)| *link == next) {
                    Some(first) => return Some(from_smallest(path[first..].iter().map(|(link, _)| *link))),
                    None if !done.contains(&next) => path.push((next, 0)),
                    None => {}
                },
            }
        }
    }
    None
}

fn from_smallest(circle: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut circle: Vec<usize> = circle.collect();
    let smallest = (0..circle.len()).min_by_key(|&position| circle[position]).unwrap_or(0);
    circle.rotate_left(smallest);
    circle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(usize, usize)]) -> BTreeMap<usize, Vec<usize>> {
        let mut graph: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        edges.iter().for_each(|&(from, to)| graph.entry(from).or_default().push(to));
        graph
    }

    #[test]
    fn a_circle_is_found_wherever_it_is() {
        assert_eq!(circle(&graph(&[(4, 2), (2, 9), (9, 4)])), Some(vec![2, 9, 4]));
        assert_eq!(circle(&graph(&[(0, 1), (1, 2), (2, 3), (3, 1)])), Some(vec![1, 2, 3]));
        assert_eq!(circle(&graph(&[(0, 1), (0, 2), (1, 3), (2, 0)])), Some(vec![0, 2]));
        assert_eq!(circle(&graph(&[(7, 7)])), Some(vec![7]));
    }

    #[test]
    fn trees_and_diamonds_have_none() {
        assert_eq!(circle(&graph(&[])), None);
        assert_eq!(circle(&graph(&[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])), None);
    }
}
